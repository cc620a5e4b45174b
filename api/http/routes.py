"""All routes of the HTTP interface."""

from __future__ import annotations

from fastapi import APIRouter

from api.http import events, exports, imports, jobs, reports, traces, values

routers: list[APIRouter] = [
    events.router,
    traces.router,
    imports.router,
    exports.router,
    values.router,
    jobs.router,
    reports.router,
]
