"""What an answer needed: the kind of question, its pieces, and the evidence for them."""
