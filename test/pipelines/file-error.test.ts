import { expect, it } from 'vitest';
import { fileError } from '../../pipelines/formats/file-error.ts';

it.each(['ENOSPC', 'EDQUOT'])('%s is reported as a full disk and not as a fault of the file', (code) => {
  const error = Object.assign(new Error(`${code}: no space left, write`), { code, syscall: 'write', path: '/tmp/made_x/member' });
  expect(fileError(error, 'MADE.zip')).toMatchObject({ code: 'DISK_FULL', kind: 'usage', at: '/tmp/made_x/member' });
});

it('EIO is reported as a file that cannot be read', () => {
  const error = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', syscall: 'read' });
  expect(fileError(error, 'MADE.zip')).toMatchObject({ code: 'FILE_UNREADABLE', kind: 'input', at: 'MADE.zip' });
});
