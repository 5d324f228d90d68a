"""What can be asked of the desk, by who asks."""

from wardround.desk.routes import admin_files, admin_people, admin_tasks, api, entering, images, reading, rendering

ROUTERS = tuple(
    each.router for each in (entering, reading, images, rendering, api, admin_tasks, admin_people, admin_files)
)
