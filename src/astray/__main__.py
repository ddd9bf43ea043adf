"""`python -m astray` is `astray`."""

from astray.cli import main

if __name__ == "__main__":
    main()
