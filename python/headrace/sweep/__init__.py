"""`headrace sweep`: many trainings, to find the best settings."""
