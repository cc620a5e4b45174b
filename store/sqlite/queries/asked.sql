-- name: views
CREATE TEMP VIEW trace AS SELECT * FROM main.trace WHERE project = asked_project();
CREATE TEMP VIEW text AS
SELECT * FROM main.text WHERE +trace_k IN (SELECT k FROM main.trace WHERE project = asked_project());
CREATE TEMP VIEW value AS
SELECT * FROM main.value WHERE +trace_k IN (SELECT k FROM main.trace WHERE project = asked_project());
CREATE TEMP VIEW session AS
SELECT * FROM main.session WHERE +trace_k IN (SELECT k FROM main.trace WHERE project = asked_project());
CREATE TEMP VIEW operation AS
SELECT * FROM main.operation WHERE +trace_k IN (SELECT k FROM main.trace WHERE project = asked_project());
CREATE TEMP VIEW variable AS
SELECT * FROM main.variable WHERE +trace_k IN (SELECT k FROM main.trace WHERE project = asked_project());
CREATE TEMP VIEW derivation AS
SELECT * FROM main.derivation WHERE +trace_k IN (SELECT k FROM main.trace WHERE project = asked_project());
CREATE TEMP VIEW usage AS
SELECT * FROM main.usage AS u
WHERE (SELECT o.trace_k FROM main.operation AS o WHERE o.k = u.operation_k)
      IN (SELECT k FROM main.trace WHERE project = asked_project());
CREATE TEMP VIEW invalidation AS
SELECT * FROM main.invalidation AS i
WHERE (SELECT o.trace_k FROM main.operation AS o WHERE o.k = i.operation_k)
      IN (SELECT k FROM main.trace WHERE project = asked_project());
CREATE TEMP VIEW failure AS
SELECT * FROM main.failure WHERE +trace_k IN (SELECT k FROM main.trace WHERE project = asked_project());
CREATE TEMP VIEW attribution AS
SELECT * FROM main.attribution WHERE +trace_k IN (SELECT k FROM main.trace WHERE project = asked_project());
CREATE TEMP VIEW lost AS SELECT * FROM main.lost WHERE project_id = asked_project();

-- name: tables
SELECT s.name, group_concat(c.name, ', ') FROM temp.sqlite_schema AS s JOIN pragma_table_info(s.name, 'temp') AS c
WHERE s.type = 'view' GROUP BY s.name ORDER BY s.name
