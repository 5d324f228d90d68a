"""How far judges and the support test can be trusted, measured against people; and questions whose key looks wrong."""
