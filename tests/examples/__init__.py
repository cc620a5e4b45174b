"""The agents of ``examples``, recorded."""
