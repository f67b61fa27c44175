// Files that come in parts: in any order, again, too late, and with parts missing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tenantTransact } from '../../src/base/db/pool.ts';
import { deleteOldParts } from '../../src/domain/imports/uploads-store.ts';
import { csvOf, openBank } from '../support/bank.ts';
import { refuses, type TestClient } from '../support/client.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();

function part(client: TestClient, uploadID: string, partNo: number, content: string, last = false) {
  const contentBase64 = Buffer.from(content).toString('base64');
  return client.uploadPart({ uploadID, partNo, contentBase64, last });
}

test('parts in any order make a file; a part that is sent again changes nothing', async () => {
  const bank = await openBank(scene, 'upload-parts');
  const { client } = bank;
  const number = await bank.connectOld();
  const file = csvOf([{ amount: 5, reference: number }, { amount: 6 }]);
  const [head, middle, tail] = [file.slice(0, 20), file.slice(20, 61), file.slice(61)];
  const { message } = await part(client, 'u1', 3, tail, true);
  assert.equal(message, `1 part of ${tail.length} bytes are stored`);
  await part(client, 'u1', 1, head);
  const uploaded = { contentBase64: null, uploadID: 'u1' };
  await refuses(bank.send('', uploaded), 'UPLOAD_INCOMPLETE', { statusCode: 422 });
  await part(client, 'u1', 2, middle);
  const again = await part(client, 'u1', 2, middle);
  assert.match(again.message, /^The part was sent before; 3 parts of \d+ bytes are stored$/);
  const sent = await bank.send('', uploaded);
  assert.equal(sent.message, '1 line posted, 0 suggested, 1 unmatched, 0 duplicate');
});

test('another content, a part after the last one and a second last one are refused', async () => {
  const client = await scene.workspace('upload-refused');
  await part(client, 'u1', 2, 'b', true);
  const wrong: [number, string, boolean][] = [
    [2, 'c', true],
    [2, 'b', false],
    [3, 'c', false],
    [1, 'a', true],
  ];
  for (const one of wrong) {
    await refuses(part(client, 'u1', ...one), 'DUPLICATE', { statusCode: 409, field: 'partNo' });
  }
  await part(client, 'u2', 2, 'b');
  await refuses(part(client, 'u2', 1, 'a', true), 'DUPLICATE', { statusCode: 409 });
  const open = client.importData({ kind: 'Parties', uploadID: 'u2' });
  await refuses(open, 'UPLOAD_INCOMPLETE', { statusCode: 422 });
  const none = client.importData({ kind: 'Parties', uploadID: 'u3' });
  await refuses(none, 'UPLOAD_NOT_FOUND', { statusCode: 404, field: 'uploadID' });
  const both = client.importData({ kind: 'Parties', uploadID: 'u2', content: 'name\nA\n' });
  await refuses(both, 'INVALID_FORMAT', { statusCode: 400 });
});

test('import-data takes an upload; a workspace does not see that of another', async () => {
  const client = await scene.workspace('upload-data');
  const other = await scene.workspace('upload-other');
  await part(client, 'u1', 1, 'name,country\nAsha Rao,PK\n', true);
  const stolen = other.importData({ kind: 'Parties', uploadID: 'u1' });
  await refuses(stolen, 'UPLOAD_NOT_FOUND', { statusCode: 404 });
  const { message } = await client.importData({ kind: 'Parties', uploadID: 'u1' });
  assert.equal(message, '1 row imported');
});

test('an upload is gone after a day, and the daily job deletes it', async () => {
  const client = await scene.workspace('upload-old');
  const tenantId = await scene.tenantOf(client);
  await part(client, 'u1', 1, 'name,country\nA,PK\n', true);
  scene.clock.advance({ hours: 24, minutes: 1 });
  const later = await scene.loginAs(client, ['Administrator']);
  const late = later.importData({ kind: 'Parties', uploadID: 'u1' });
  await refuses(late, 'UPLOAD_NOT_FOUND', { statusCode: 404 });
  const before = scene.clock.now().subtract({ hours: 24 });
  const remove = () =>
    tenantTransact(scene.owner, tenantId, (tx) => deleteOldParts(tx, tenantId, before));
  assert.deepEqual([await remove(), await remove()], [1, 0]);
});
