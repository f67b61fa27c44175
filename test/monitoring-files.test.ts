// The dashboard and the alert rules ask for figures that the server has.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openScene } from './support/scene.ts';

const { baseUrl } = await openScene();
const folder = new URL('../deploy/monitoring/', import.meta.url);

test('every figure of the dashboard and of the alert rules is one of /metrics', async () => {
  const metrics = await (await fetch(new URL('/metrics', baseUrl))).text();
  const known = new Set([...metrics.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));
  for (const file of ['grafana-dashboard.json', 'alerts.yaml']) {
    const text = readFileSync(new URL(file, folder), 'utf8');
    const named = text.matchAll(/\b((?:billwright|process|nodejs)_\w+?)(?:_bucket|_count)?\b/g);
    const unknown = [...new Set([...named].map(([, name = '']) => name))].filter(
      (name) => !known.has(name),
    );
    assert.deepEqual(unknown, [], file);
  }
});

test('the dashboard is JSON with a query in every panel', () => {
  const text = readFileSync(new URL('grafana-dashboard.json', folder), 'utf8');
  const { panels } = JSON.parse(text) as { panels: { targets: { expr: string }[] }[] };
  assert.ok(panels.length >= 10);
  for (const { targets } of panels) assert.ok(targets.every(({ expr }) => expr.length > 0));
});
