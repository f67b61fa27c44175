import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openScene, query } from './scene.ts';

// From the first file of initdb to the first moments of the server.
const momentsMs = [0, 150, 400, 700];

test('a program killed in the middle of its first start leaves nothing half made', async (t) => {
  const scene = await openScene(t);
  const home = join(scene.dataFolder, 'postgres');
  const list = () => (existsSync(home) ? readdirSync(home) : []);
  let unfinished = 0;
  for (const moment of momentsMs) {
    const program = scene.program();
    const deadline = Date.now() + 60_000;
    while (!list().some((name) => name.startsWith('cluster'))) {
      assert.ok(Date.now() < deadline, program.messages());
      await sleep(2);
    }
    await sleep(moment);
    await program.kill('SIGKILL');
    if (list().some((name) => name.startsWith('cluster.new-'))) unfinished++;
    if (list().includes('cluster')) break;
  }
  assert.ok(unfinished > 0, 'at least one attempt was cut short');
  const embedded = await scene.start();
  await query(embedded.owner, 'create table kept as select 1 as one');
  assert.deepEqual(
    list().filter((name) => name.startsWith('cluster')),
    ['cluster'],
    'left-overs are removed',
  );
  assert.deepEqual(await query(embedded.owner, 'select one from kept'), [{ one: 1 }]);
});
