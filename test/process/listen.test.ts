// If the server cannot listen, the caller keeps the resources that it passed in.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainOpening, transact } from '../../src/base/db/pool.ts';
import { createLog } from '../../src/base/log.ts';
import { listen } from '../../src/commands/listen.ts';
import { readConfig } from '../../src/config.ts';
import type { Context } from '../../src/context.ts';
import { findTenantId } from '../../src/domain/tenants/store.ts';
import { takePort } from '../support/program.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();

test('a port that is taken leaves the database open for its owner to close', async () => {
  const taken = await takePort();
  const config = readConfig({ PORT: String(taken.port) });
  const access = { connection: scene.cluster.owner };
  const context: Context = {
    config,
    clock: scene.clock,
    log: createLog({ level: 'silent' }),
    owner: access,
    api: access,
    worker: access,
    close: async () => {},
  };
  await assert.rejects(listen(context, scene.api), /is taken by another program/);
  await taken.free();
  const found = await transact(scene.api, { opening: plainOpening }, (tx) =>
    findTenantId(tx, 'nowhere'),
  );
  assert.equal(found, undefined);
});
