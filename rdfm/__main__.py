"""`python -m rdfm`: the command line."""

from rdfm.cli import main

if __name__ == "__main__":
    main()
