"""A memory agent whose prompt forgets things, and a better one by verdicts: ``python -m examples.better_prompts DIR``.

It needs no network: a server on this machine stands for the models (``model.py``).
"""
