"""What all servers of models share: address, headers, secrets, proxies, certificates, bodies of replies."""
