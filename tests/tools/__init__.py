"""What tests share, and programs around them; nothing here is a test."""
