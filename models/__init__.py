"""valleywatch models."""
