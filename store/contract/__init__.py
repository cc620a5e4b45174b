"""What a store can do, and the records in which it is asked and answers."""
