"""What builds and checks this repository, and is never installed with it."""
