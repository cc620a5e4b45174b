"""The free pass with a model as its eyes: small judgements where texts alone don't decide."""
