// A real provider, as small as one can be: `demo` has one data source, `demo_version`, that returns the version the
// program was built with. The interop stage publishes it, installs it and lets `terraform apply` run it.
package main

import (
	"context"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	dsschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// version is set by the linker: -ldflags "-X main.version=1.0.0".
var version = "dev"

type demoProvider struct{}

func (demoProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "demo"
	resp.Version = version
}

func (demoProvider) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}

func (demoProvider) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {
}

func (demoProvider) Resources(context.Context) []func() resource.Resource { return nil }

func (demoProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{func() datasource.DataSource { return versionDataSource{} }}
}

type versionDataSource struct{}

type versionModel struct {
	Version types.String `tfsdk:"version"`
}

func (versionDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_version"
}

func (versionDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = dsschema.Schema{
		Description: "The version that this program was built with.",
		Attributes: map[string]dsschema.Attribute{
			"version": dsschema.StringAttribute{Computed: true, Description: "The version, such as 1.0.0."},
		},
	}
}

func (versionDataSource) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	resp.Diagnostics.Append(resp.State.Set(ctx, versionModel{Version: types.StringValue(version)})...)
}

func main() {
	address := "registry.example.test/acme/demo"
	err := providerserver.Serve(context.Background(), func() provider.Provider { return demoProvider{} }, providerserver.ServeOpts{
		Address: address,
	})
	if err != nil {
		log.Fatal(err)
	}
}
