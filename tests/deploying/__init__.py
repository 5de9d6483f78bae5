"""What is deployed: units, images and charts."""
