"""The routes of the desk, by who uses them."""

from wardround.desk.routes import admin_files, admin_people, admin_tasks, api, images, login, results, tasks

ROUTERS = tuple(
    module.router for module in (login, tasks, results, images, api, admin_tasks, admin_people, admin_files)
)
