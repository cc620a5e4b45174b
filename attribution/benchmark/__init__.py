"""How good a method is: failures whose cause is known, given to it without their labels, and what it makes of them."""
