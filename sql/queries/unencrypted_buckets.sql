-- Which S3 buckets have no encryption of their own configured?
-- Neither in the bucket nor by aws_s3_bucket_server_side_encryption_configuration in its state.
select
    b.state_name,
    b.address,
    b.attributes ->> 'bucket' as bucket
from kl.resources as b
where b.type = 'aws_s3_bucket'
    and b.mode = 'managed'
    and b.deposed_key is null
    and coalesce(b.attributes -> 'server_side_encryption_configuration', '[]') in ('[]', 'null')
    and not exists (
        select
        from kl.resources as e
        where e.state_id = b.state_id
            and e.type = 'aws_s3_bucket_server_side_encryption_configuration'
            and e.attributes ->> 'bucket' in (b.attributes ->> 'bucket', b.attributes ->> 'id')
    )
order by b.state_name, b.address;
