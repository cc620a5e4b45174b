"""The GraphQL door: a file per type, and around them loaders, limits, errors and the router.

Modules with types have no ``from __future__ import annotations``: Strawberry reads the annotations, and where they are
texts it parses, prints and evaluates each of them up to three times, which took a tenth of the server's start.
"""
