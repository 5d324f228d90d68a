"""Where cases come from: case sets, their images, and what is wrong with them."""
