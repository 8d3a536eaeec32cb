/** Section address: the addresses of a parcel. */
import { z } from 'zod';
import { addressFacts } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID, PLACED } from '../../../pipelines/contract/section.ts';

const address = z.array(z.strictObject(addressFacts).meta({ id: 'Address' })).max(20)
  .meta({ id: 'ParcelAddresses', description: 'Access points inside the parcel, and access points within 15 m that have no nearer land parcel' });

export default defineSection({
  name: 'address',
  position: 90,
  title: 'Addresses',
  block: address,
  kinds: ['land'],
  coverage: 'meta',
  namesComuni: true,
  follows: ['core.access_point', 'core.street', 'core.comune', 'core.comune_found'],
  tables: {
    'section.address': {
      description: 'Access points inside a parcel, and access points within 15 m that have no nearer land parcel in their comune. At most 20 per parcel',
      key: ['fid', 'ordinal'],
      columns: {
        fid: FID,
        ordinal: {
          type: 'int2',
          description: 'Position in the array, from 1: access points inside the parcel first, then by distance, then by address_id',
          gate: 'a position in a sorted list',
        },
        address_id: { type: 'int8', description: 'Access (core.access_point)', gate: 'a key' },
        ...PLACED,
      },
    },
  },
  flat: {
    count: { type: 'int4', of: 'length' }, address_id: { type: 'int8', of: '0.address_id' },
    formatted_address: { type: 'text', of: '0.formatted_address' },
  },
});
