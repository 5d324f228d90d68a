"""Which options a reply claims to be its answer."""
