"""Good networks, without proofs: `orders` climbs and kicks over orders, `sink` follows an LP point."""
