"""What a family of encoders does otherwise than the paper: a file for each difference."""
