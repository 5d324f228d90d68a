"""`classifier`: an image classifier in an ONNX file."""
