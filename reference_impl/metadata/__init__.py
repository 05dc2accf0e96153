"""What the cluster knows about itself: records, the image they add up to, configurations."""
