"""What people say of stored interactions: which to offer them, what they agree on, and how well we agree with them."""
