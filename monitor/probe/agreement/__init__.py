"""In: answers that people have scored. Out: how far the judge of correctness agrees with them."""
