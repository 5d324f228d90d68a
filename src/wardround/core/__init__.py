"""The records that every room shares, how they are hashed, and the interface of the examination hall."""
