// A collection for Postman: a folder for each task, a request with an example for each operation.
import type { Described } from './description.ts';

export function postmanCollection(operations: readonly Described[]): object {
  const byGroup = Map.groupBy(operations, ({ group }) => group);
  return {
    info: {
      name: 'Billwright',
      description:
        'Set baseUrl to the address of your workspace. Send Login first: it keeps the token for ' +
        'all other requests.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: {
      type: 'apikey',
      apikey: [
        { key: 'key', value: 'Authorization' },
        { key: 'value', value: '{{accessToken}}' },
        { key: 'in', value: 'header' },
      ],
    },
    variable: [
      { key: 'baseUrl', value: 'http://demo.localhost:8080' },
      { key: 'accessToken', value: '' },
    ],
    item: [...byGroup].map(([name, list]) => ({ name, item: list.map(itemOf) })),
  };
}

const keepToken = [
  'const { data } = pm.response.json();',
  "if (data && data.accessToken) pm.collectionVariables.set('accessToken', data.accessToken);",
];

function itemOf({ name, path, method, action, summary, example, isPublic }: Described): object {
  const body = { method, action, apiVersion: 'v2', ...example };
  return {
    name: action,
    ...(name === 'login'
      ? { event: [{ listen: 'test', script: { type: 'text/javascript', exec: keepToken } }] }
      : {}),
    request: {
      method: 'POST',
      ...(isPublic ? { auth: { type: 'noauth' } } : {}),
      header: [{ key: 'Content-Type', value: 'application/json' }],
      url: { raw: `{{baseUrl}}${path}`, host: ['{{baseUrl}}'], path: path.slice(1).split('/') },
      body: {
        mode: 'raw',
        raw: JSON.stringify(body, null, 2),
        options: { raw: { language: 'json' } },
      },
      description: summary,
    },
  };
}
