"""All routes of the HTTP door."""

from __future__ import annotations

from fastapi import APIRouter

from api.http import events, exports, imports, jobs, reports, values

routers: list[APIRouter] = [events.router, imports.router, exports.router, values.router, jobs.router, reports.router]
