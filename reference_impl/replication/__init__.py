"""What a replica does with its log: as leader, as follower, and between the two."""
