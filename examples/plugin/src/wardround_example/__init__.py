"""One extension of every kind for wardround, each in a file of its own."""
