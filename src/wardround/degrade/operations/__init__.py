"""Image operations that degradations are made of: blur, resize, warp, projection, k-space."""
