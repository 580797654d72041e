"""``python -m pellucid`` runs the command line."""

from pellucid.cli.app import main

if __name__ == "__main__":
    main()
