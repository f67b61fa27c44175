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

function contextOf(env: Record<string, string>): Context {
  const access = { connection: scene.cluster.owner };
  return {
    config: readConfig(env),
    clock: scene.clock,
    log: createLog({ level: 'silent' }),
    owner: access,
    api: access,
    worker: access,
    close: async () => {},
  };
}

test('an address of another machine is reported with the name of its setting', async () => {
  await assert.rejects(
    listen(contextOf({ PORT: '0', HOST: '192.0.2.1' }), scene.api),
    /^Error: HOST is '192\.0\.2\.1', which is not an address of this machine\.$/,
  );
});

test('a port that is taken leaves the database open for its owner to close', async () => {
  const taken = await takePort();
  const context = contextOf({ PORT: String(taken.port) });
  await assert.rejects(listen(context, scene.api), /is taken by another program/);
  await taken.free();
  const found = await transact(scene.api, { opening: plainOpening }, (tx) =>
    findTenantId(tx, 'nowhere'),
  );
  assert.equal(found, undefined);
});
