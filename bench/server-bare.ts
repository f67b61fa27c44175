// The floor of bench/api.ts: Fastify, its own JSON parser, one prepared select by key.
import Fastify from 'fastify';
import pg from 'pg';

const pool = new pg.Pool({ ...JSON.parse(process.argv[2] ?? ''), max: 16 });
const server = Fastify();
server.post('/party', async (request) => {
  const { partyNumber } = request.body as { partyNumber: number };
  const { rows } = await pool.query({
    name: 'party',
    text: `select party_id, party_number, kind, name, email, country, contacts
      from parties where tenant_id = $1 and party_number = $2`,
    values: [1, partyNumber],
  });
  return {
    success: true,
    statusCode: 200,
    message: '1 found',
    error: null,
    data: { user: rows[0] },
  };
});
const address = await server.listen({ port: 0, host: '127.0.0.1' });
process.send?.({ port: Number(new URL(address).port) });
process.once('SIGTERM', async () => {
  await server.close();
  await pool.end();
  process.exit(0);
});
