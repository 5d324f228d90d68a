"""The starter case set: invented patients with public test images, for a first study without data."""
