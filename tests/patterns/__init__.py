"""The lint of regular expressions: every pattern of the product takes linear time on any input."""
