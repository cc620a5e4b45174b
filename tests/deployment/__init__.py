"""Tests of the Dockerfile and of docker-compose.yml."""
