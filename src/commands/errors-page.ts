import { writeFile } from 'node:fs/promises';
import { errorCodes } from '../base/errors.ts';
import { billErrorCodes } from '../domain/rating/rating-error.ts';

/** The text of docs/errors.md: the tables of codes as readers of the API want them. */
export function errorsPage(): string {
  const rows = Object.entries(errorCodes).map(
    ([code, { statusCode, type, summary }]) =>
      `| \`${code}\` | ${statusCode} | ${type} | ${summary} |`,
  );
  const billRows = Object.entries(billErrorCodes).map(
    ([code, summary]) => `| \`${code}\` | ${summary} |`,
  );
  return `# Error codes

Written by \`npm run billwright -- errors-page\` from the tables in \`src/base/errors.ts\` and
\`src/domain/rating/rating-error.ts\`.

The HTTP status of a call is always 200; \`statusCode\` is in the envelope and in the header
\`X-Status-Code\`. When several codes apply to one call, the one that stands first here is told.
Codes about things that no operation handles yet are listed too: their names are settled.

| Code | \`statusCode\` | \`type\` | Meaning |
|---|---|---|---|
${rows.join('\n')}

## On bills

What cannot be billed is a bill with the status Error and these codes in its \`errors\`, and in the
\`exceptions\` of Get Term Detail; the call that generated it succeeds. A posted bill whose document
cannot be made has a code of the table above there.

| Code | Meaning |
|---|---|
${billRows.join('\n')}
`;
}

export async function writeErrorsPage(): Promise<void> {
  await writeFile(new URL('../../docs/errors.md', import.meta.url), errorsPage());
}
