// Credit notes of a bill, or of all bills of a customer.
import { Card, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.ts';
import { creditNotesQuery } from '../api/queries/bills.ts';
import { Amount } from './amount.tsx';
import { FileButton } from './file.tsx';
import { PageLink } from './page-link.tsx';
import { scrolls } from './scrolls.ts';

export function CreditNotes({ of }: { of: { billID: number } | { partyID: number } }) {
  const { t } = useTranslation();
  const { data: notes = [] } = useQuery(creditNotesQuery(of));
  if (notes.length === 0) return null;
  return (
    <Card withBorder {...scrolls(t('creditNotes.title'))}>
      <Text component="h2" fw={600} mb="xs">
        {t('creditNotes.title')}
      </Text>
      <Table aria-label={t('creditNotes.title')}>
        <Table.Tbody>
          {notes.map(({ creditNoteID = 0, creditNoteNumber, billID, billNumber, ...note }) => (
            <Table.Tr key={creditNoteID}>
              <Table.Td>{creditNoteNumber}</Table.Td>
              <Table.Td>{note.issueDate}</Table.Td>
              {'partyID' in of && (
                <Table.Td>
                  <PageLink to="/bills/$billID" params={{ billID: String(billID) }}>
                    {billNumber}
                  </PageLink>
                </Table.Td>
              )}
              <Table.Td>{note.reason}</Table.Td>
              <Table.Td className="figure">
                <Amount value={note.amount ?? 0} />
              </Table.Td>
              <Table.Td>
                <FileButton
                  isSmall
                  label={t('creditNotes.pdf')}
                  name={`${creditNoteNumber}.pdf`}
                  load={() => api.getCreditNoteDocument({ creditNoteID, format: 'PDF' })}
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  );
}
