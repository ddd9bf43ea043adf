"""`astray check`: the effective scenario, or everything that is wrong with it."""

from __future__ import annotations

import click

from astray.cli.completion import complete_scenarios
from astray.cli.options import JSON, SET


@click.command()
@click.argument("scenario", required=False, shell_complete=complete_scenarios)
@SET
@click.option("--schema", is_flag=True, help="Print the JSON schema of scenario files.")
@JSON
def check(scenario: str | None, overrides: tuple[str, ...], schema: bool, as_json: bool) -> None:
    """Print the effective SCENARIO, or every fault of it.

    The effective scenario has all presets, overrides and defaults written out.
    """
    import json

    from astray.files import dump_yaml
    from astray.scenario import json_schema, load_scenario

    if schema:
        if scenario is not None:
            load_scenario(scenario, overrides)  # declares its plugins
        click.echo(json.dumps(json_schema(), indent=2))
        return
    if scenario is None:
        raise click.UsageError("check needs a SCENARIO, or --schema")
    effective = load_scenario(scenario, overrides).effective
    click.echo(json.dumps(effective, indent=2) if as_json else dump_yaml(effective), nl=as_json)
