"""What every engine of the store must do, with the same results from the same data."""
