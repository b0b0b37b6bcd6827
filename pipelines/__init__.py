"""valleywatch pipelines."""
