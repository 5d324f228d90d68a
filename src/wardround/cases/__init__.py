"""Where cases come from: case sets, published layouts, images, validation."""
